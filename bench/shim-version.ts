// shim-version: the cost of a call to a daemon without the engine's work: the start of the shim, one request and one reply over a
// socket.

import { createServer } from "node:net";
import { join } from "node:path";

import { PROTOCOL_VERSION } from "../host/protocol/frames.ts";
import { installPlexus, missingBuild, runtimeEnvironment } from "../test/lab/plexus.ts";
import { inTurns, type Benchmark } from "./measure.ts";
import { startStopwatch } from "./stopwatch.ts";

const headerBytes = 12;
const replyType = 16;
const welcomeType = 21;

function field(text: string): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(Buffer.byteLength(text));
  return Buffer.concat([length, Buffer.from(text)]);
}

/** A REPLY on channel 0 as host/shim/PROTOCOL.md defines it: exit status 0, stdout, no stderr. */
function replyFrame(stdout: string): Buffer {
  return frame(replyType, Buffer.concat([Buffer.alloc(4), field(stdout), field("")]));
}

function frame(type: number, payload: Buffer): Buffer {
  const header = Buffer.alloc(headerBytes);
  header.writeUInt32LE(payload.length, 0);
  header.writeUInt8(PROTOCOL_VERSION, 4);
  header.writeUInt8(type, 5);
  return Buffer.concat([header, payload]);
}

export const shimVersion: Benchmark = {
  id: "shim-version",
  title: "plexus VERSION with a trivial daemon / /bin/true",
  target: "at most 2 ms",
  async sample() {
    const lacking = missingBuild({ engine: false });
    if (lacking !== undefined) return lacking;
    const installation = installPlexus({ engine: false });
    const stopwatch = startStopwatch();
    const reply = replyFrame('{"cniVersion":"1.1.0","supportedVersions":["1.1.0"]}');
    const engine = createServer((connection) => {
      let received = Buffer.alloc(0);
      connection.on("error", () => connection.destroy());
      connection.write(frame(welcomeType, Buffer.alloc(0)));
      connection.on("data", (chunk: Buffer) => {
        received = Buffer.concat([received, chunk]);
        if (received.length >= headerBytes && received.length >= headerBytes + received.readUInt32LE(0)) connection.end(reply);
      });
    });
    const socket = join(installation.directory, "plexus.sock");
    await new Promise<void>((resolve) => engine.listen(socket, resolve));
    try {
      const env = { ...runtimeEnvironment({ verb: "VERSION" }, installation.cniPath), PLEXUS_SOCKET: socket };
      const version = { argv: [join(installation.cniPath, "plexus")] as const, env, stdin: '{"cniVersion":"1.1.0"}' };
      const { stdout } = await stopwatch.run(version);
      if (!stdout.includes("supportedVersions")) throw new Error(`plexus VERSION answered ${stdout}`);
      return await inTurns({
        subject: stopwatch.program(version),
        baseline: stopwatch.program({ argv: ["/bin/true"] }),
        warmUp: 20,
        samples: 300,
      });
    } finally {
      await new Promise((resolve) => engine.close(resolve));
      await stopwatch.dispose();
      installation.dispose();
    }
  },
};
