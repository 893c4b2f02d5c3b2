import type { Json } from '@berth/kernel';
import { Injectable, type INestApplication } from '@nestjs/common';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { gatewayVersion } from '../version.js';
import { extractNamedSchemas, type Extracted } from './named-schemas.js';
import { RESPONSE_SCHEMAS } from './schemas.js';

const DESCRIPTION = `Berth hosts long-lived agents, each in its own container with a persistent volume.

**Authentication.** \`Authorization: Bearer mk_…\`. Each endpoint states the scope that it needs; every key has \`read\`.
A credential in the URL is refused with 401. Pages on origins that the operator allows may call the endpoints that accept end-user
tokens, with such a token. No page of another origin can call any other endpoint.

**Errors.** \`{"detail": {"code", "message", …}}\`. \`code\` is stable, \`message\` says what to do. 401 takes precedence, then 403,
404, 400, and then 402, 409 and 429. Unknown members of bodies and queries are ignored. \`fields\` of a 400 names every bad
member by a dotted path (\`env.0.key\`).

**Request ids.** Every response carries \`X-Request-Id\`: the one you sent (1 to 128 of \`A-Z a-z 0-9 . _ : -\`) or a new one.

**Lists.** \`{"items": […], "nextCursor"}\`; send it as \`cursor\` to get the next page. \`limit\` is 1 to 200, by default 50. A page of large
items may be shorter than \`limit\`; \`nextCursor\` is null on the last page only.

**Idempotency.** Every POST accepts an \`Idempotency-Key\`. Responses with 2xx are stored for 24 h; an error frees the key,
unless it says \`mayHaveBeenDone\`: then the same request with the same key takes effect once, and another body is 409.

**Limits.** JSON bodies are at most 1 MiB of UTF-8, nested at most 64 levels deep. Headers are at most 16 KiB
and must arrive within 10 s, the whole request within 60 s; an upload or write may take an hour if bytes arrive at least
every 30 s. Strings contain no NUL characters; their lengths count Unicode code points, \`x-max-utf16-units\` limits their
length in UTF-16 and \`x-max-bytes\` their size in UTF-8. The items of a list with \`x-unique-by\` differ in that member.`;

/** The OpenAPI document. Its first reader waits until it is built, so that no start of a gateway does. */
@Injectable()
export class OpenApiDocument {
  #app: INestApplication | undefined;
  #json: string | undefined;

  /** `app`: whose routes it describes; must be initialised. */
  describe(app: INestApplication): void {
    this.#app = app;
  }

  get json(): string {
    if (this.#app === undefined)
      throw new Error('The OpenAPI document was requested before the routes were known.');
    this.#json ??= build(this.#app);
    return this.#json;
  }
}

const build = (app: INestApplication): string => {
  const base = new DocumentBuilder()
    .setTitle('Berth')
    .setDescription(DESCRIPTION)
    .setVersion(gatewayVersion())
    .setOpenAPIVersion('3.1.0')
    .setLicense('Apache-2.0', 'https://www.apache.org/licenses/LICENSE-2.0')
    .addServer('/')
    .addBearerAuth(
      { type: 'http', scheme: 'bearer', bearerFormat: 'mk_…', description: 'An API key.' },
      'apiKey',
    )
    .build();
  const document = SwaggerModule.createDocument(app, base, {
    operationIdFactory: (controller, method) => `${controller.replace(/Controller$/, '')}_${method}`,
  });
  return JSON.stringify(withSchemas(extractNamedSchemas(JSON.parse(JSON.stringify(document)) as Json)));
};

const withSchemas = ({ document, schemas }: Extracted): Json => {
  if (typeof document !== 'object' || document === null || !('components' in document)) return document;
  return {
    ...document,
    components: { ...(document.components as object), schemas: { ...schemas, ...RESPONSE_SCHEMAS } },
  };
};
