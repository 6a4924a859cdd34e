// `node main.ts SETTINGS`: a provider of external ports for EC2. README.md has the settings.

import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { EC2Client } from "@aws-sdk/client-ec2";
import { Ec2Ports } from "./ports.ts";
import { providerListener } from "./server.ts";
import { readSettings } from "./settings.ts";

const [path = "/etc/plexus-ec2-provider/settings.json"] = process.argv.slice(2);
const settings = await readSettings(path);
const { listen, tls, tokenFile, region, endpoint } = settings;
const client = new EC2Client({
  region,
  ...(endpoint === undefined ? {} : { endpoint }),
  maxAttempts: 2,
  requestHandler: { connectionTimeout: 2_000, requestTimeout: 4_000 },
});
const listener = providerListener(new Ec2Ports(client, settings), tokenFile);
const limits = { requestTimeout: 15_000, headersTimeout: 5_000 };
const server =
  tls === undefined
    ? createServer(limits, listener)
    : createTlsServer({ ...limits, cert: readFileSync(tls.certificateFile), key: readFileSync(tls.keyFile) }, listener);
server.listen(listen.port, listen.host, () => {
  const { address, port } = server.address() as AddressInfo;
  process.stdout.write(`listening on ${tls === undefined ? "http" : "https"}://${address}:${port}\n`);
});
for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => server.close(() => process.exit(0)));
