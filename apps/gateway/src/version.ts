import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

/** The version in the gateway's package.json, which Node also finds from a bundle. */
export const gatewayVersion = (): string => {
  const file = createRequire(import.meta.url).resolve('@berth/gateway/package.json');
  const manifest: unknown = JSON.parse(readFileSync(file, 'utf8'));
  return typeof manifest === 'object' && manifest !== null && 'version' in manifest
    ? String(manifest.version)
    : '0.0.0';
};
