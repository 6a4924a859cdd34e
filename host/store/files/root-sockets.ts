// Sockets in directories that root alone may use, which a daemon with a user of its own gets from its launch server (host/sandbox/launcher/sockets.c): the kubelet's
// and OVSDB's, and those of the daemon's own services beside other programs' sockets. A daemon of root, and plexusctl, open them themselves.

/** An open socket, or the name of the errno with which root failed. */
export type RootSocket = { readonly descriptor: number } | { readonly error: string };

/** The requests to root. Each answers for a path of the daemon's command line, and undefined for any other path. */
export interface RootSockets {
  /** A connection to the socket. `error` is EAGAIN if its server does not accept at the moment. */
  readonly connect: (path: string) => RootSocket | undefined;
  /** A socket that listens at the path. */
  readonly listen: (path: string) => RootSocket | undefined;
  /** Removes the socket at the path, if no process listens to it. */
  readonly remove: (path: string) => void;
}

/** The daemon's connection to root: one for the process, like its user. */
let sockets: RootSockets | undefined;

/** Sets the requests by which this process gets such sockets; undefined: it opens all sockets itself. */
export function useRootSockets(requests: RootSockets | undefined): void {
  sockets = requests;
}

/** The requests of this process. */
export function rootSockets(): RootSockets | undefined {
  return sockets;
}
