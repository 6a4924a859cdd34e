// `node test/lab/surroundings/calico/get.ts` builds Calico's CNI installer and plugins. It prints one line if that fails, and never fails itself.

import { buildOrSay } from "../module-programs.ts";
import { calicoPrograms } from "./programs.ts";

buildOrSay("Calico", calicoPrograms.build);
