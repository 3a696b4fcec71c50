"""What the assets need from outside: repositories, store, encoder. The only reader of the environment."""
