# A short turn of the stress test: the oracle at seeds that nobody chose.
SOURCE=$SOURCE BUILD=$BUILD bash "$SOURCE/tests/stress/oracle_random.sh" 0.15
