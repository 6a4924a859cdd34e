// `node test/lab/surroundings/kube-router/get.ts` builds kube-router, and unpacks Debian's ipset. It prints one line if that fails, and never fails itself.

import { buildOrSay } from "../module-programs.ts";
import { unpackIpset } from "../ipset.ts";
import { kubeRouterPrograms } from "./programs.ts";

buildOrSay("kube-router", kubeRouterPrograms.build, unpackIpset);
