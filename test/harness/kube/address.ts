// Where the tests' API server is found, apart from the server itself, which takes long to load.

/** Where the server is reached from the tests' own namespace and from each connected one. */
export const apiAddress = "100.100.100.1";

/** The link of a connected namespace that leads to the API server. */
export const apiLink = "kube0";
