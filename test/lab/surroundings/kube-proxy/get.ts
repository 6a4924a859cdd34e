// `node test/lab/surroundings/kube-proxy/get.ts` builds kube-proxy. It prints one line if that fails, and never fails itself.

import { buildOrSay } from "../module-programs.ts";
import { kubeProxy } from "./programs.ts";

buildOrSay("kube-proxy", kubeProxy.build);
