// `plexusd --once`: the one-shot engine. The shim starts it for one call if no daemon answers, with its end of a socket pair as file descriptor 3.
// The call takes the path of a daemon's call; the process ends after the answer. The build packs this program apart from the daemon
// (scripts/one-shot-scripts.ts), so that a call loads nothing of the daemon's own parts.

import { Socket } from "node:net";
import { callRecorders, planFeatures } from "../../../features/list.ts";
import { openCluster } from "../../cluster/open-cluster.ts";
import type { Node } from "../../engine/node.ts";
import { CallSession } from "../../engine/session/call-session.ts";
import { ConnectedShim } from "../../protocol/connected-shim.ts";
import { ShimGone } from "../../protocol/shim.ts";
import { backgroundWriter } from "../../store/files/background-writer.ts";
import { AsyncLocks, takeLockFor } from "../../store/locks/async-locks.ts";
import { bootId } from "../../system/boot-id.ts";
import { systemClock } from "../../system/clock.ts";

/** The descriptor on which the shim passes the stream to an engine that it starts (PROTOCOL.md, "Where the shim finds an engine"). */
const streamFd = 3;

/** The shim's stream; undefined if the descriptor is no socket, because a user started the program. */
function openStream(): Socket | undefined {
  try {
    return new Socket({ fd: streamFd, readable: true, writable: true });
  } catch {
    return undefined;
  }
}

/** Serves the call of the shim at the other end of the socket. Throws ShimGone. */
async function serveOnce(socket: Socket): Promise<void> {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  socket.once("close", () => resolve());
  const connected = new ConnectedShim(socket);
  const request = await connected.purpose;
  if (request.kind !== "request") return;
  const shim = connected.serving((nested) => call.serveNested(nested));
  const call: CallSession = new CallSession(makeNode(), shim);
  connected.reply(await call.serve(request));
  // The runtime has its answer once the kernel has taken it, so the shim does not wait for the engine's end.
  await Promise.all([call.end(), closed]);
}

function makeNode(): Node {
  const locks = new AsyncLocks();
  return {
    clock: systemClock,
    startedAt: systemClock.date(),
    bootId: bootId(),
    takeLock: (shim) => (wanted) => takeLockFor(shim, locks, wanted),
    writer: backgroundWriter(),
    features: planFeatures,
    recorders: callRecorders,
    // Leases and the sandbox are loaded with the first delegate, so that a call without delegates starts faster.
    openDelegates: async ({ configuration, ...of }) => {
      const { delegatesForOneCall } = await import("./delegates-for-one-call.ts");
      return delegatesForOneCall({ ...of, cniDir: configuration?.cniDir });
    },
    openCluster: (configuration, warn) => openCluster(configuration, warn, systemClock),
  };
}

async function main(): Promise<void> {
  const socket = openStream();
  if (socket === undefined) {
    process.stderr.write(`plexusd --once: file descriptor ${streamFd} is no socket: only the shim starts plexusd so\n`);
    process.exit(2);
  }
  try {
    await serveOnce(socket);
  } catch (error) {
    // Without a shim no answer is needed. The journal has what the next DEL needs.
    if (!(error instanceof ShimGone)) throw error;
  }
  // Exit at once: sandbox processes end when their pipes close.
  process.exit();
}

void main();
