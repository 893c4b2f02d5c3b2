import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '@berth/telemetry';
import { afterAll, describe, expect, it } from 'vitest';
import { HostConnections } from './host-connections.js';

const folder = mkdtempSync(join(tmpdir(), 'authority-file-'));
const at = (file: string): string => join(folder, file);
afterAll(() => rmSync(folder, { recursive: true }));

const log: string[] = [];
const recording = createLogger({
  service: 'gateway',
  level: 'error',
  destination: { write: (line: string) => void log.push(line) },
});

describe('connections to a host whose data port is https', () => {
  it.each<[string, string | undefined]>([
    ['is missing', undefined],
    // Node would trust public authorities instead.
    ['is empty', ''],
    ['contains no certificate', 'certificate'],
  ])('are refused if the file of the authority %s, and the log says so', (_what, text) => {
    if (text !== undefined) writeFileSync(at('ca.pem'), text);
    const connections = new HostConnections({ dataCa: at('ca.pem') }, recording);
    expect(() => connections.tlsOf({ url: 'https://127.0.0.1:1/', host: 'hst_1' })).toThrow(
      expect.objectContaining({ code: 'agent_unavailable' }) as Error,
    );
    expect(log.pop()).toContain('BERTH_DATA_CA cannot be read');
  });

  it('are refused if the ticket names no host, and the log says so', () => {
    const connections = new HostConnections({ dataCa: undefined }, recording);
    expect(() => connections.tlsOf({ url: 'https://127.0.0.1:1/' })).toThrow(
      expect.objectContaining({ code: 'agent_unavailable' }) as Error,
    );
    expect(log.pop()).toContain('names no host');
  });

  it('need no authority while the data port is plain', () => {
    const connections = new HostConnections({ dataCa: undefined }, recording);
    expect(connections.tlsOf({ url: 'http://127.0.0.1:1/', host: 'hst_1' })).toBeUndefined();
  });
});
