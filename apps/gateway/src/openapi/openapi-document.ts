import type { Json } from '@berth/kernel';
import { Injectable, type INestApplication } from '@nestjs/common';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { gatewayVersion } from '../version.js';
import { extractNamedSchemas, type Extracted } from './named-schemas.js';
import { RESPONSE_SCHEMAS } from './schemas.js';

const DESCRIPTION = `Hosts long-lived agents, each in a container of its own with a volume that stays.

**Authentication.** \`Authorization: Bearer mk_…\`. Each endpoint says which scope it needs; every key may read.
A credential in the address is refused with 401. There is no CORS: call the API from programs, not from pages of other origins.

**Errors.** \`{"detail": {"code", "message", …}}\`. \`code\` is stable, \`message\` says what to do. 401 comes first, then 403,
404, 400, and then 402, 409 and 429. Unknown members of bodies and queries are ignored. \`fields\` of a 400 names every bad
member by a dotted path (\`env.0.key\`).

**Request ids.** Every response carries \`X-Request-Id\`: the one you sent (1 to 128 of \`A-Z a-z 0-9 . _ : -\`) or a new one.

**Lists.** \`{"items": […], "nextCursor"}\`; send \`cursor\` to go on, \`limit\` is 1 to 200, 50 unless given. A page of large
items may be shorter than \`limit\`; \`nextCursor\` is null on the last page only.

**Idempotency.** Every POST takes an \`Idempotency-Key\`. Responses with 2xx are kept for 24 h; anything else frees the key.

**Limits.** JSON bodies to 1 MiB, nested to 64 levels, without a byte of text that is not UTF-8. Headers to 16 KiB, read within
10 s; a request within 60 s, but an upload or write within an hour as long as something comes every 30 s. Texts hold no NUL characters; their lengths count UTF-16 units. \`x-max-bytes\` limits their UTF-8;
items of a list with \`x-unique-by\` differ in that member.`;

/** Holds the document once the routes are known. */
@Injectable()
export class OpenApiDocument {
  #json: string | undefined;

  /** Reads the routes of `app`, which must be initialised. */
  build(app: INestApplication): void {
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
    this.#json = JSON.stringify(
      withSchemas(extractNamedSchemas(JSON.parse(JSON.stringify(document)) as Json)),
    );
  }

  get json(): string {
    if (this.#json === undefined) throw new Error('The document is asked for before the routes are known.');
    return this.#json;
  }
}

const withSchemas = ({ document, schemas }: Extracted): Json => {
  if (typeof document !== 'object' || document === null || !('components' in document)) return document;
  return {
    ...document,
    components: { ...(document.components as object), schemas: { ...schemas, ...RESPONSE_SCHEMAS } },
  };
};
