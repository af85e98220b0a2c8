"""Training algorithms, one module each; ``base`` says what one has to provide."""
