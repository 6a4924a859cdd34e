// Sockets for the traffic tests, as programs that Node runs in namespaces. `serve` answers each client with the client's
// address and the server's port. `probe` connects to many servers at once. `hear` prints the senders of multicast datagrams,
// which `shout` sends.

import { createSocket } from "node:dgram";
import { connect, createServer } from "node:net";
import { text } from "node:stream/consumers";

export interface Probe {
  readonly protocol: "tcp" | "udp";
  readonly address: string;
  readonly port: number;
  /** The local port of a UDP probe; by default the kernel chooses. */
  readonly localPort?: number;
}

/** Ports that `serve` listens on, in both families. */
export interface Served {
  readonly tcp: readonly number[];
  readonly udp: readonly number[];
}

/** A datagram to each address of `to`, from `from`. */
export interface Shout {
  readonly from: string;
  /** An interface in the form of Node's setMulticastInterface. */
  readonly link: string;
  readonly to: readonly string[];
  readonly port: number;
}

/** Multicast groups, each with an interface in the form of Node's addMembership. */
export interface Heard {
  readonly port: number;
  readonly groups: readonly (readonly [group: string, link: string])[];
}

const [role, argument = ""] = process.argv.slice(2);
if (role === "hear") await hear(JSON.parse(argument));
else if (role === "shout") await shout(JSON.parse(argument));
else if (role === "serve") await serve(JSON.parse(argument));
else if (role === "probe") {
  const probes: Probe[] = JSON.parse(await text(process.stdin));
  process.stdout.write(JSON.stringify(await Promise.all(probes.map((probe) => ask(probe, Number(argument))))), () =>
    process.exit(0),
  );
}

async function serve({ tcp, udp }: Served): Promise<void> {
  for (const port of tcp) {
    const server = createServer((socket) => {
      socket.on("error", () => socket.destroy());
      socket.end(answerText(socket.remoteAddress ?? "", port));
    });
    await new Promise<void>((done) => server.listen({ host: "::", port, backlog: 4096 }, done));
  }
  for (const port of udp) {
    const socket = createSocket({ type: "udp6", ipv6Only: false, recvBufferSize: 1 << 22 });
    socket.on("message", (_, { address, port: from }) => socket.send(answerText(address, port), from, address));
    await new Promise<void>((done) => socket.bind(port, "::", done));
  }
  process.stdout.write("ready\n");
}

/** Prints `<sender> to <content>` for each datagram. */
async function hear({ port, groups }: Heard): Promise<void> {
  for (const type of ["udp4", "udp6"] as const) {
    const socket = createSocket({ type, reuseAddr: true, ...(type === "udp6" ? { ipv6Only: true } : {}) });
    socket.on("message", (message, { address }) => process.stdout.write(`${address} to ${message}\n`));
    await new Promise<void>((done) => socket.bind(port, done));
    for (const [group, link] of groups) if (group.includes(":") === (type === "udp6")) socket.addMembership(group, link);
  }
  process.stdout.write("ready\n");
}

async function shout({ from, link, to, port }: Shout): Promise<void> {
  const socket = createSocket(from.includes(":") ? "udp6" : "udp4");
  await new Promise<void>((done) => socket.bind(0, from, done));
  socket.setMulticastInterface(link);
  for (const address of to) await new Promise((done) => socket.send(address, port, address, done));
  socket.close();
}

function answerText(address: string, port: number): string {
  return `${address.replace(/^::ffff:/, "")} ${port}`;
}

/** The server's answer; empty if there is no server, or no answer within the time. */
function ask(probe: Probe, milliseconds: number): Promise<string> {
  return probe.protocol === "tcp" ? askTcp(probe, milliseconds) : askUdp(probe, milliseconds);
}

function askTcp({ address, port }: Probe, milliseconds: number): Promise<string> {
  return new Promise((done) => {
    let answer = "";
    const socket = connect({ host: address, port, noDelay: true });
    socket.setTimeout(milliseconds, () => socket.destroy());
    socket.setEncoding("utf8").on("data", (chunk: string) => (answer += chunk));
    socket.on("error", () => socket.destroy());
    socket.on("close", () => done(answer));
  });
}

/** The socket is connected, so that it receives only answers from the probed address and port. */
function askUdp({ address, port, localPort }: Probe, milliseconds: number): Promise<string> {
  return new Promise((done) => {
    const socket = createSocket({ type: address.includes(":") ? "udp6" : "udp4" });
    const timers = [1, 2, 4].map((part) => setTimeout(() => send(), (milliseconds * (part - 1)) / 5));
    const end = (answer: string): void => {
      for (const timer of timers) clearTimeout(timer);
      clearTimeout(last);
      socket.removeAllListeners();
      socket.on("error", () => {
        // The answer has already arrived.
      });
      socket.close();
      done(answer);
    };
    const last = setTimeout(() => end(""), milliseconds);
    let connected = false;
    const send = (): void => {
      if (connected) socket.send("?", () => {});
    };
    socket.on("error", () => end(""));
    socket.on("message", (message) => end(message.toString()));
    socket.on("connect", () => {
      connected = true;
      send();
    });
    socket.bind(localPort ?? 0, () => socket.connect(port, address));
  });
}
