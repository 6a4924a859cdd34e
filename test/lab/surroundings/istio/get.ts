// `node test/lab/surroundings/istio/get.ts` builds Istio's CNI installer and plugin. It prints one line if that fails, and never fails itself.

import { buildOrSay } from "../module-programs.ts";
import { istioPrograms } from "./programs.ts";

buildOrSay("Istio", istioPrograms.build);
