// The configuration of the official client for tests. The client as it is opens a TLS connection for each request, and a connection that breaks on
// a busy machine would fail a test about something else. Here all requests share a pool of HTTP/1.1 connections, and a broken one is repeated.

import {
  type ApiConstructor,
  createConfiguration,
  HttpMethod,
  KubeConfig,
  RequestContext,
  type ResponseContext,
  ServerConfiguration,
  wrapHttpLibrary,
} from "@kubernetes/client-node";

type ApiType = Parameters<KubeConfig["makeApiClient"]>[0] extends ApiConstructor<infer T> ? T : never;

/** A kubeconfig's clients for tests: `clientConfig(path).makeApiClient(CoreV1Api)`. */
export function clientConfig(kubeconfig: string): KubeConfig {
  const config = new TestConfig();
  config.loadFromFile(kubeconfig);
  return config;
}

/** The clients of a bearer token. */
export function tokenConfig(server: string, caFile: string, token: string): KubeConfig {
  const config = new TestConfig();
  config.loadFromOptions({
    clusters: [{ name: "cluster", server, caFile }],
    users: [{ name: "user", token }],
    contexts: [{ name: "context", cluster: "cluster", user: "user" }],
    currentContext: "context",
  });
  return config;
}

/** Options of undici's connector. One request in a connection: an HTTP/2 connection that breaks fails all of its requests. */
const connect = { allowH2: false, timeout: 60_000 };

class TestConfig extends KubeConfig {
  #dispatcher: ReturnType<RequestContext["getDispatcher"]>;

  override createDispatcherOptions(
    ...args: Parameters<KubeConfig["createDispatcherOptions"]>
  ): ReturnType<KubeConfig["createDispatcherOptions"]> {
    const options = super.createDispatcherOptions(...args);
    return options.type === "agent" ? { ...options, connect: { ...options.connect, ...connect } } : options;
  }

  override async applySecurityAuthentication(context: RequestContext): Promise<void> {
    await super.applySecurityAuthentication(context);
    this.#dispatcher ??= context.getDispatcher();
    if (this.#dispatcher !== undefined) context.setDispatcher(this.#dispatcher);
  }

  override makeApiClient<T extends ApiType>(client: ApiConstructor<T>): T {
    const server = this.getCurrentCluster()?.server;
    if (server === undefined) throw new Error("the kubeconfig has no current cluster");
    return new client(
      createConfiguration({
        baseServer: new ServerConfiguration(server, {}),
        authMethods: { default: this },
        httpApi: wrapHttpLibrary({ send: (request) => sendAgain(request, 3) }),
      }),
    );
  }
}

const { httpApi } = createConfiguration();

/** Sends a request until it is answered, at most `attempts` times. */
async function sendAgain(request: RequestContext, attempts: number): Promise<ResponseContext> {
  for (let attempt = 1; ; attempt++)
    try {
      const answer = await httpApi.send(request).toPromise();
      // The attempt whose answer was lost may have created the object.
      return attempt > 1 && answer.httpStatusCode === 409 ? ((await created(request)) ?? answer) : answer;
    } catch (error) {
      if (attempt === attempts || !isBroken(error)) throw error;
    }
}

/** Reads the object of a POST request, which names it. */
async function created(request: RequestContext): Promise<ResponseContext | undefined> {
  const body: unknown = JSON.parse(String(request.getBody() ?? "null"));
  const name = (body as { readonly metadata?: { readonly name?: string } } | null)?.metadata?.name;
  if (request.getHttpMethod() !== HttpMethod.POST || name === undefined) return undefined;
  const url = new URL(request.getUrl());
  url.pathname += `/${name}`;
  url.search = "";
  const reading = new RequestContext(url.href, HttpMethod.GET);
  for (const [key, value] of Object.entries(request.getHeaders())) reading.setHeaderParam(key, value);
  const dispatcher = request.getDispatcher();
  if (dispatcher !== undefined) reading.setDispatcher(dispatcher);
  return httpApi.send(reading).toPromise();
}

/** Codes of connections that broke or were not open in time. All other errors are answers, or mistakes of the test. */
const brokenCodes: ReadonlySet<unknown> = new Set(["UND_ERR_SOCKET", "UND_ERR_CONNECT_TIMEOUT", "ECONNRESET", "EPIPE"]);

function isBroken(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return typeof cause === "object" && cause !== null && "code" in cause && brokenCodes.has(cause.code);
}
