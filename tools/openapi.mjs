import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/**
 * The OpenAPI document of the gateway that `tsc -b` has built. Nest's preview mode registers the routes and instantiates
 * nothing, so no part of Berth has to run.
 *
 * @param {string} root
 * @returns {Promise<string>} JSON
 */
export async function readOpenApi(root = ROOT) {
  const gateway = join(root, 'apps', 'gateway');
  const { resolve } = createRequire(join(gateway, 'package.json'));
  const installed = (name) => import(pathToFileURL(resolve(name)).href);
  const built = (path) => import(pathToFileURL(join(gateway, 'dist', path)).href);
  const [{ GatewayModule }, { OpenApiDocument }] = await Promise.all([
    built('gateway.module.js'),
    built('openapi/openapi-document.js'),
  ]);
  const { NestFactory } = await installed('@nestjs/core');
  const { FastifyAdapter } = await installed('@nestjs/platform-fastify');
  const { LaunchModule, ServiceContext } = await installed('@berth/service');
  const module = LaunchModule.of(GatewayModule, new ServiceContext('gateway', { config: {}, log: {} }));
  const app = await NestFactory.create(module, new FastifyAdapter(), {
    preview: true,
    logger: ['error'],
    abortOnError: false,
  });
  const document = new OpenApiDocument();
  document.describe(app);
  return document.json;
}

// `node tools/openapi.mjs` prints the document.
if (process.argv[1] === fileURLToPath(import.meta.url)) process.stdout.write(`${await readOpenApi()}\n`);
