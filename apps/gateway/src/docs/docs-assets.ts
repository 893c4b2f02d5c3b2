import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** One file of the reference page. */
export interface DocsAsset {
  readonly type: string;
  readonly content: Buffer;
}

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Berth API</title>
    <link rel="icon" type="image/png" href="./docs/favicon-32x32.png">
    <link rel="stylesheet" href="./docs/swagger-ui.css">
  </head>
  <body>
    <main id="reference"></main>
    <noscript>This page needs JavaScript. The same interface for machines: <a href="./openapi.json">openapi.json</a></noscript>
    <script src="./docs/swagger-ui-bundle.js"></script>
    <script src="./docs/start.js"></script>
  </body>
</html>
`;

/** A separate file, because the content security policy of the page forbids inline scripts. */
const START = `window.SwaggerUIBundle({
  url: './openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  displayRequestDuration: true,
  docExpansion: 'list',
  validatorUrl: null,
  presets: [window.SwaggerUIBundle.presets.apis],
  layout: 'BaseLayout',
});
`;

/** The page loads nothing from other servers, so the reference works offline. */
export const DOCS_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const FROM_PACKAGE: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
};

/** The page under the empty name, and the assets it loads by file name. Read once. */
export const readDocsAssets = (): ReadonlyMap<string, DocsAsset> => {
  const folder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  const assets = new Map<string, DocsAsset>([
    ['', { type: 'text/html; charset=utf-8', content: Buffer.from(PAGE) }],
    ['start.js', { type: 'text/javascript; charset=utf-8', content: Buffer.from(START) }],
  ]);
  for (const [name, type] of Object.entries(FROM_PACKAGE)) {
    assets.set(name, { type, content: readFileSync(join(folder, name)) });
  }
  return assets;
};
