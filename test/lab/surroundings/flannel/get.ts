// `node test/lab/surroundings/flannel/get.ts` builds flannel's daemon and plugin. It prints one line if that fails, and never fails itself.

import { flannelPrograms, flannelPlugin } from "./programs.ts";

const why = flannelPrograms.build() ?? flannelPlugin.build();
if (why !== undefined) process.stderr.write(`plexus: tests beside flannel will be skipped: ${why}\n`);
