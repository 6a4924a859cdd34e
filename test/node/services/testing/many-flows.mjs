// `node many-flows.mjs ADDRESS PORT COUNT`: sends one UDP packet from each of COUNT sockets, in groups that the limit of open files allows.

import { createSocket } from "node:dgram";

const [address, port, count] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])];
const together = 500;

const sendOne = () =>
  new Promise((resolve, reject) => {
    const socket = createSocket(address.includes(":") ? "udp6" : "udp4");
    socket.on("error", reject);
    socket.send("x", port, address, (error) => (error === null ? resolve(socket) : reject(error)));
  });

for (let sent = 0; sent < count; sent += together) {
  const sockets = await Promise.all(Array.from({ length: Math.min(together, count - sent) }, sendOne));
  for (const socket of sockets) socket.close();
}
