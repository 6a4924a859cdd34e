// `node test/lab/surroundings/calico/get.ts` builds Calico's CNI installer and plugins. It prints one line if that fails, and never fails itself.

import { calicoPrograms } from "./programs.ts";

const why = calicoPrograms.build();
if (why !== undefined) process.stderr.write(`plexus: tests beside Calico will be skipped: ${why}\n`);
