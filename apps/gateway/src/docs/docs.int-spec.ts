import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestGateway, type TestGateway } from '../fixtures/gateway.fixture.js';

let test: TestGateway;

beforeAll(async () => {
  test = await startTestGateway();
});
afterAll(() => test.stop());

describe('/docs', () => {
  it('is a page that loads nothing from elsewhere, under a policy that enforces it', async () => {
    const page = await test.call('GET', '/docs');
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page.headers.get('content-security-policy')).toContain("script-src 'self';");
    expect(page.text).not.toMatch(/https?:\/\//);
    expect(page.text).not.toMatch(/<script>|<style>| on\w+=/);
    const links = [...page.text.matchAll(/(?:href|src)="\.\/(docs\/[^"]+)"/g)].map((match) => match[1] ?? '');
    expect(links).toHaveLength(4);
    for (const link of links) {
      const file = await test.call('GET', `/${link}`);
      expect([file.status, file.headers.get('x-content-type-options')]).toEqual([200, 'nosniff']);
      expect(file.text.length).toBeGreaterThan(50);
    }
  });

  it('has no other files', async () => {
    for (const name of ['package.json', 'index.html', '..%2fpackage.json', '__proto__']) {
      const { status, body } = await test.call('GET', `/docs/${name}`);
      expect([status, body.detail?.code]).toEqual([404, 'not_found']);
    }
  });
});
