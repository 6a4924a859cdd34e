// Keeps the workers' setting of malloc (scripts/test-run/run-tests.ts) from the programs that tests start: Plexus runs without it on a node.

delete process.env["GLIBC_TUNABLES"];
