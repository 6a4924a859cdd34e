// `node test/lab/surroundings/istio/get.ts` builds Istio's CNI installer and plugin. It prints one line if that fails, and never fails itself.

import { istioPrograms } from "./programs.ts";

const why = istioPrograms.build();
if (why !== undefined) process.stderr.write(`plexus: tests beside Istio will be skipped: ${why}\n`);
