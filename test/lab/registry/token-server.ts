// A token server for docker-registry (distribution's "Token Authentication Specification"): signs JSON Web Tokens that the registry verifies.

import { randomUUID, sign } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";

import type { Certificate } from "../kube/certificates.ts";

/** A request that the server has seen. */
export interface SeenTokenRequest {
  readonly method: string;
  readonly scope: string;
  /** User and password of the header Authorization, or the refresh token; undefined without. */
  readonly credential: string | undefined;
}

export interface TokenServer {
  readonly realm: string;
  readonly service: string;
  readonly issuer: string;
  /** PEM file of the certificate whose key signs the tokens. */
  readonly certificate: string;
  readonly seen: readonly SeenTokenRequest[];
  dispose(): Promise<void>;
}

export interface TokenServerInit {
  readonly tls: Certificate;
  /** Certificate and key for the tokens. */
  readonly signer: Certificate;
  /** `USER:PASSWORD` or a refresh token, and the actions that it may do; "" stands for no credential. */
  readonly rights: Readonly<Record<string, readonly string[]>>;
}

const service = "test-registry";
const issuer = "test-issuer";

/** Starts the server on a free port of the loopback interface. */
export async function startTokenServer({ tls, signer, rights }: TokenServerInit): Promise<TokenServer> {
  const seen: SeenTokenRequest[] = [];
  const server = createServer({ cert: readFileSync(tls.certificate), key: readFileSync(tls.key) }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const url = new URL(request.url ?? "/", "https://token.test");
      const form = new URLSearchParams(Buffer.concat(chunks).toString());
      const scope = url.searchParams.get("scope") ?? form.get("scope") ?? "";
      const basic = /^Basic (.+)$/.exec(request.headers.authorization ?? "")?.[1];
      const credential = basic === undefined ? (form.get("refresh_token") ?? undefined) : Buffer.from(basic, "base64").toString();
      seen.push({ method: request.method ?? "", scope, credential });
      const allowed = rights[credential ?? ""];
      if (allowed === undefined)
        return void response.writeHead(401).end('{"errors":[{"code":"DENIED","message":"unknown user"}]}');
      const [type = "", name = "", actions = ""] = scope.split(":");
      const access = [{ type, name, actions: actions.split(",").filter((action) => allowed.includes(action)) }];
      const member = request.method === "POST" ? "access_token" : "token";
      response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify({ [member]: token(signer, access) }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    realm: `https://127.0.0.1:${port}/token`,
    service,
    issuer,
    certificate: signer.certificate,
    seen,
    dispose: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** A token of five minutes. The certificate in its header leads to the registry's trusted ones. */
function token({ certificate, key }: Certificate, access: readonly object[]): string {
  const der = /-----BEGIN CERTIFICATE-----([\s\S]*?)-----END/.exec(readFileSync(certificate, "utf8"))?.[1]?.replaceAll(/\s/g, "");
  const now = Math.floor(Date.now() / 1000);
  const claims = {
    iss: issuer,
    sub: "test",
    aud: service,
    exp: now + 300,
    nbf: now - 10,
    iat: now - 10,
    jti: randomUUID(),
    access,
  };
  const signed = [{ typ: "JWT", alg: "ES256", x5c: [der] }, claims].map((part) =>
    Buffer.from(JSON.stringify(part)).toString("base64url"),
  );
  const text = signed.join(".");
  const signature = sign("sha256", Buffer.from(text), { key: readFileSync(key, "utf8"), dsaEncoding: "ieee-p1363" });
  return `${text}.${signature.toString("base64url")}`;
}
