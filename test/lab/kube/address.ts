// The address of the tests' API server, in its own file because api-server.ts takes long to load.

/** The server's address in the tests' host namespace and in each connected namespace. */
export const apiAddress = "100.100.100.1";

/** The link of a connected namespace that leads to the API server. */
export const apiLink = "kube0";
