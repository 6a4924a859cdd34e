// A server and a client for tests of Services. `serve ADDRESS...` answers TCP port 8080 and UDP port 5353 of each address with `ADDRESS CLIENT`.
// `ask PROTOCOL ADDRESS PORT COUNT` prints each answer or error code; `talk ADDRESS PORT` sends a UDP datagram of one flow for each line of stdin.

import { createSocket } from "node:dgram";
import { connect, createServer, isIPv6 } from "node:net";
import { createInterface } from "node:readline";

const [action, ...args] = process.argv.slice(2);
const say = (text) => void process.stdout.write(`${text}\n`);
const patienceMs = 60_000;
const family = (address) => (isIPv6(address) ? "udp6" : "udp4");

function tcp(address, port) {
  return new Promise((resolve) => {
    const socket = connect({ host: address, port });
    let text = "";
    socket.setTimeout(patienceMs, () => resolve("ETIMEDOUT"));
    socket.on("data", (data) => (text += data));
    socket.on("end", () => resolve(text));
    socket.on("error", ({ code }) => resolve(code));
  });
}

function udp(address, port, socket = createSocket(family(address))) {
  return new Promise((resolve) => {
    const done = (text) => {
      clearTimeout(timer);
      resolve(text);
    };
    const timer = setTimeout(done, patienceMs, "ETIMEDOUT");
    socket.once("message", (data) => done(String(data)));
    socket.once("error", ({ code }) => done(code));
    socket.send("x", port, address, (error) => error && done(error.code));
  });
}

if (action === "serve") {
  for (const host of args) {
    const server = createServer((socket) => socket.end(`${host} ${socket.remoteAddress}`));
    await new Promise((resolve) => server.listen({ host, port: 8080 }, resolve));
    const socket = createSocket(family(host));
    socket.on("message", (_, { address, port }) => socket.send(`${host} ${address}`, port, address));
    await new Promise((resolve) => socket.bind(5353, host, resolve));
  }
  say("ready");
} else if (action === "ask") {
  const [protocol, address = "", port, count] = args;
  for (let number = 0; number < Number(count); number++) {
    const socket = protocol === "udp" ? createSocket(family(address)) : undefined;
    say(await (socket === undefined ? tcp(address, Number(port)) : udp(address, Number(port), socket)));
    socket?.close();
  }
} else {
  const [address = "", port] = args;
  const socket = createSocket(family(address));
  for await (const _ of createInterface({ input: process.stdin })) say(await udp(address, Number(port), socket));
  socket.close();
}
