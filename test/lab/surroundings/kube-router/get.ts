// `node test/lab/surroundings/kube-router/get.ts` builds kube-router and unpacks Debian's ipset. It prints one line if that fails, and never fails itself.

import { kubeRouterPrograms, unpackIpset } from "./programs.ts";

const why = kubeRouterPrograms.build() ?? unpackIpset();
if (why !== undefined) process.stderr.write(`plexus: tests beside kube-router will be skipped: ${why}\n`);
