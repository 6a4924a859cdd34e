// Certificates for one test's API server and its users, made with openssl.

import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface Certificate {
  /** Paths of PEM files. */
  readonly certificate: string;
  readonly key: string;
}

export interface CertificateInit {
  /** The user's name, or the server's. */
  readonly commonName: string;
  /** Kubernetes groups. */
  readonly groups?: readonly string[];
  /** Such as `IP:192.0.2.1` or `DNS:name`. Their presence makes a server certificate. */
  readonly alternativeNames?: readonly string[];
  /** Days from now; negative days are in the past. Default: from -1 to 7. */
  readonly validDays?: readonly [from: number, to: number];
}

export interface Authority extends Certificate {
  /** Issues a certificate that this authority signs. `file` is the base name of its files. */
  issue(file: string, init: CertificateInit): Certificate;
}

const dayMs = 86_400_000;

/** Makes an authority whose files lie in `directory`. */
export function makeAuthority(directory: string, commonName: string): Authority {
  mkdirSync(directory, { recursive: true });
  const at = (name: string): string => join(directory, name);
  writeFileSync(at("index.txt"), "");
  writeFileSync(at("index.txt.attr"), "unique_subject = no\n");
  writeFileSync(at("ca.cnf"), configuration(directory));
  makeKey(at("ca.key"));
  const days = ["-days", "8"];
  const extensions = ["-addext", "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=critical,keyCertSign,cRLSign"];
  openssl(
    "req",
    "-x509",
    "-new",
    "-key",
    at("ca.key"),
    "-subj",
    `/CN=${commonName}`,
    ...days,
    ...extensions,
    "-out",
    at("ca.crt"),
  );

  return {
    certificate: at("ca.crt"),
    key: at("ca.key"),
    issue(file, { commonName: name, groups = [], alternativeNames = [], validDays = [-1, 7] }) {
      const made = { certificate: at(`${file}.crt`), key: at(`${file}.key`) };
      makeKey(made.key);
      const subject = `${groups.map((group) => `/O=${group}`).join("")}/CN=${name}`;
      openssl("req", "-new", "-key", made.key, "-subj", subject, "-out", at(`${file}.csr`));
      const usage = alternativeNames.length === 0 ? "clientAuth" : "serverAuth";
      const alternatives = alternativeNames.length === 0 ? [] : [`subjectAltName=${alternativeNames.join(",")}`];
      writeFileSync(at(`${file}.ext`), [`extendedKeyUsage=${usage}`, ...alternatives, ""].join("\n"));
      const [from, to] = validDays.map((day) => asn1Time(Date.now() + day * dayMs));
      const validity = ["-startdate", from ?? "", "-enddate", to ?? ""];
      const files = ["-in", at(`${file}.csr`), "-out", made.certificate, "-extfile", at(`${file}.ext`)];
      openssl("ca", "-batch", "-notext", "-config", at("ca.cnf"), ...validity, ...files);
      return made;
    },
  };
}

/** Makes a pair of keys, with which the API server signs and checks service account tokens. */
export function makeKeyPair(key: string, publicKey: string): void {
  makeKey(key);
  openssl("pkey", "-in", key, "-pubout", "-out", publicKey);
}

function makeKey(path: string): void {
  openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", path);
}

function openssl(...args: readonly string[]): void {
  execFileSync("openssl", args, { stdio: ["ignore", "ignore", "pipe"] });
}

/** A PEM file in base64, as a kubeconfig's `*-data` fields need it. */
export function base64File(path: string): string {
  return readFileSync(path).toString("base64");
}

function asn1Time(time: number): string {
  return `${new Date(time).toISOString().replace(/[-:T]/g, "").slice(0, 14)}Z`;
}

function configuration(directory: string): string {
  return `[ca]
default_ca = this
[this]
dir = ${directory}
database = $dir/index.txt
new_certs_dir = $dir
certificate = $dir/ca.crt
private_key = $dir/ca.key
rand_serial = yes
default_md = sha256
policy = any
[any]
organizationName = optional
commonName = supplied
`;
}
