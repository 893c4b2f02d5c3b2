import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The part of an image's configuration that says how it runs. */
export interface ImageProgram {
  readonly Entrypoint?: readonly string[];
  readonly Cmd?: readonly string[];
  readonly Env?: readonly string[];
  readonly WorkingDir?: string;
  readonly User?: string;
  readonly ExposedPorts?: Readonly<Record<string, object>>;
  readonly Volumes?: Readonly<Record<string, object>>;
  readonly StopSignal?: string;
  readonly Healthcheck?: object;
}

/**
 * How a registry treats a repository. `hangs`: it never responds. `lies`: the layer is not what its digest says. `breaks
 * off`: it closes the connection in the middle of the layer.
 */
export type RegistryFault = 'hangs' | 'lies' | 'breaks off';

const TYPES = {
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  config: 'application/vnd.oci.image.config.v1+json',
  layer: 'application/vnd.oci.image.layer.v1.tar',
} as const;
const ROUTE = /^\/v2\/(.+)\/(manifests|blobs)\/([^/]+)$/;
const MAX_LAYER_BYTES = 64 * 1024 * 1024;

/** A registry of container images on loopback, by plain HTTP, that images can be pulled from. */
export class ImageRegistry {
  readonly #content = new Map<string, { readonly type: string; readonly bytes: Buffer }>();
  readonly #faults = new Map<string, RegistryFault>();
  readonly #requests: string[] = [];

  private constructor(private readonly server: Server) {}

  static async start(): Promise<ImageRegistry> {
    const server = createServer((request, response) => registry.#handle(request, response));
    const registry = new ImageRegistry(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return registry;
  }

  /** `127.0.0.1:port` */
  get host(): string {
    return `127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Paths that were requested, oldest first. */
  get requests(): readonly string[] {
    return this.#requests;
  }

  /** Adds an image whose only layer has the files of a folder, owned by root. Returns the digest of the image. */
  async push(repository: string, tag: string, folder: string, program: ImageProgram): Promise<string> {
    const owner = ['--owner=0', '--group=0', '--numeric-owner'];
    const args = ['--create', ...owner, `--directory=${folder}`, '.'];
    const { stdout: layer } = await run('tar', args, { encoding: 'buffer', maxBuffer: MAX_LAYER_BYTES });
    const diff = digestOf(layer);
    const architecture = process.arch === 'x64' ? 'amd64' : process.arch;
    const rootfs = { type: 'layers', diff_ids: [diff] };
    const config = Buffer.from(JSON.stringify({ architecture, os: 'linux', config: program, rootfs }));
    const manifest = Buffer.from(
      JSON.stringify({
        schemaVersion: 2,
        mediaType: TYPES.manifest,
        config: this.#store(repository, TYPES.config, config),
        layers: [this.#store(repository, TYPES.layer, layer)],
      }),
    );
    const { digest } = this.#store(repository, TYPES.manifest, manifest);
    this.#content.set(`${repository}:${tag}`, { type: TYPES.manifest, bytes: manifest });
    return digest;
  }

  /** The digest and the size of the layer of an image. */
  layerOf(repository: string, tag: string): { readonly layer: string; readonly size: number } {
    const manifest = String(this.#content.get(`${repository}:${tag}`)?.bytes);
    const { layers } = JSON.parse(manifest) as { layers: readonly { digest: string; size: number }[] };
    const [first] = layers;
    if (first === undefined) throw new Error('The image has no layer.');
    return { layer: first.digest, size: first.size };
  }

  /** From now on, or never again with null. */
  fail(repository: string, fault: RegistryFault | null): void {
    if (fault === null) this.#faults.delete(repository);
    else this.#faults.set(repository, fault);
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  #store(repository: string, type: string, bytes: Buffer) {
    const digest = digestOf(bytes);
    this.#content.set(`${repository}:${digest}`, { type, bytes });
    return { mediaType: type, digest, size: bytes.length };
  }

  #handle(request: IncomingMessage, response: ServerResponse): void {
    const path = request.url ?? '';
    this.#requests.push(path);
    const [, repository = '', kind, reference = ''] = ROUTE.exec(path) ?? [];
    const fault = this.#faults.get(repository);
    if (fault === 'hangs') return;
    if (kind === undefined) return void response.writeHead(path === '/v2/' ? 200 : 404).end();
    const found = this.#content.get(`${repository}:${reference}`);
    if (found === undefined) return void response.writeHead(404).end();
    const { type, bytes } = found;
    const length = { 'content-type': type, 'content-length': bytes.length };
    response.writeHead(200, { ...length, 'docker-content-digest': digestOf(bytes) });
    if (request.method === 'HEAD') return void response.end();
    const isLayer = type === TYPES.layer;
    if (isLayer && fault === 'lies') return void response.end(Buffer.alloc(bytes.length, 'x'));
    if (isLayer && fault === 'breaks off')
      return void response.write(bytes.subarray(0, bytes.length / 2), () => response.destroy());
    response.end(bytes);
  }
}

const digestOf = (bytes: Buffer): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
