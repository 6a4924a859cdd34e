// `node test/lab/kubernetes-tests/get.ts` builds Kubernetes' own tests and gets the files of their pods' image. It prints one line if that fails, and
// never fails itself.

import { buildOrSay } from "../surroundings/module-programs.ts";
import { coreDns } from "../surroundings/coredns/programs.ts";
import { kubeProxy } from "../surroundings/kube-proxy/programs.ts";
import { unpackTestTools } from "./image.ts";
import { kubernetesTests } from "./programs.ts";

buildOrSay("Kubernetes' own tests", unpackTestTools, kubeProxy.build, coreDns.build, kubernetesTests.build);
