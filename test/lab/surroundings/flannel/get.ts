// `node test/lab/surroundings/flannel/get.ts` builds flannel's daemon and plugin. It prints one line if that fails, and never fails itself.

import { buildOrSay } from "../module-programs.ts";
import { flannelPlugin, flannelPrograms } from "./programs.ts";

buildOrSay("flannel", flannelPrograms.build, flannelPlugin.build);
