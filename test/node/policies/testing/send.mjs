// Sends UDP datagrams to port 9 of each address, again and again, whether or not there is a way yet.

import { createSocket } from "node:dgram";

const socket = createSocket("udp4");
socket.on("error", () => undefined);
socket.bind(0, () => process.stdout.write("ready\n"));
setInterval(() => {
  for (const address of process.argv.slice(2)) socket.send("x", 9, address, () => undefined);
}, 1);
