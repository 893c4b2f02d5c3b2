import { request } from 'node:http';
import { connect } from 'node:net';
import { eventually } from '@berth/testing';
import { describe, expect, it } from 'vitest';
import { Api } from './api.fixture.js';
import type { Stack } from './stack.fixture.js';

/** Tests of malformed, oversized and unfinished requests. */
export const describeMalformedRequests = (stack: () => Stack): void => {
  const api = new Api(stack);
  const address = (): { readonly host: string; readonly port: number } => {
    const url = new URL(stack().urls[0] ?? '');
    return { host: '127.0.0.1', port: Number(url.port) };
  };

  /** Sends the bytes unchanged and returns everything received until the server closes. */
  const exchange = (bytes: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const { host, port } = address();
      const socket = connect(port, host, () => socket.write(bytes));
      let response = '';
      socket.setTimeout(5_000, () =>
        socket.destroy(new Error(`The server did not close after: ${response}`)),
      );
      socket.on('data', (chunk) => (response += chunk.toString('utf8')));
      socket.on('close', () => resolve(response));
      socket.on('error', reject);
    });

  /** Parses a raw response with a JSON body. */
  const parse = (
    response: string,
  ): { readonly status: number; readonly head: string; readonly body: unknown } => {
    const [head = '', ...rest] = response.split('\r\n\r\n');
    return {
      status: Number(head.split(' ')[1]),
      head: head.toLowerCase(),
      body: JSON.parse(rest.join('\r\n\r\n')) as unknown,
    };
  };

  const detail = (code: unknown): object => ({ detail: { code, message: expect.any(String) } });

  describe('a request', () => {
    it('with a request id of 3,000 characters gets a new one', async () => {
      const given = 'x'.repeat(3_000);
      const response = await api.get('/api/agents', { headers: { 'x-request-id': given } });
      expect(response.status).toBe(200);
      expect(response.headers.get('x-request-id')).toMatch(/^[A-Za-z0-9._:-]{1,128}$/);
      const kept = await api.get('/api/agents', { headers: { 'x-request-id': 'trace.1:a-b' } });
      expect(kept.headers.get('x-request-id')).toBe('trace.1:a-b');
    });

    it('with oversized headers returns 431 and closes the connection', async () => {
      const { status, head, body } = parse(
        await exchange(`GET /api/agents HTTP/1.1\r\nhost: x\r\nx-long: ${'y'.repeat(100_000)}\r\n\r\n`),
      );
      expect(status).toBe(431);
      expect(body).toMatchObject(detail(expect.any(String)));
      expect(head).toMatch(/x-request-id: \S+/);
    });

    it('that is not HTTP returns 400 with a detail and does not affect the next caller', async () => {
      const { status, body } = parse(await exchange('HELLO\r\n\r\n'));
      expect(status).toBe(400);
      expect(body).toMatchObject(detail(expect.any(String)));
      expect((await api.get('/api/agents')).status).toBe(200);
    });

    it.each([
      ['GET', '/api/nothing', 404],
      ['GET', '/', 404],
      ['PATCH', '/api/agents', 405],
      ['GET', '/api/agents/%E0%A4%A', 400],
      ['GET', '/api/agents/agt_%00', 404],
      ['GET', `/api/agents/${'a'.repeat(5_000)}`, 404],
    ])('%s %s returns %i with a detail', async (method, path, status) => {
      const response = await api.call(method, path);
      expect(response.status, JSON.stringify(response.body)).toBe(status);
      expect(response.body).toMatchObject(detail(expect.any(String)));
    });

    it.each(['/api/agents/%zz', '/api/agents/%E0%A4%A'])('GET %s without a key returns 401', async (path) => {
      const response = await fetch(`${stack().urls[0] ?? ''}${path}`);
      expect(response.status, await response.text()).toBe(401);
    });

    it('with invalid percent-encoding in its query returns 400', async () => {
      const { status, body } = await api.get('/api/agents?name=%zz');
      expect([status, body['detail']]).toEqual([400, expect.objectContaining({ code: 'invalid_request' })]);
    });

    it.each([
      ['{"name": "x", "templateId": ', 'application/json', 400],
      ['name=x', 'application/x-www-form-urlencoded', 415],
      ['null', 'application/json', 400],
      ['"text"', 'application/json', 400],
      ['{"__proto__": {"name": "x"}, "templateId": "echo"}', 'application/json', 400],
      [`{"name": "${'x'.repeat(1_100_000)}", "templateId": "echo"}`, 'application/json', 413],
    ])('that creates an agent with the body %.40s as %s returns %i', async (body, type, status) => {
      const response = await fetch(`${stack().urls[0] ?? ''}/api/agents`, {
        method: 'POST',
        headers: { authorization: `Bearer ${stack().key}`, 'content-type': type },
        body,
      });
      const text = await response.text();
      expect(response.status, text).toBe(status);
      expect(JSON.parse(text)).toMatchObject(detail(expect.any(String)));
    });

    it('whose body never ends does not delay other callers', async () => {
      const { host, port } = address();
      const half = request({
        host,
        port,
        method: 'POST',
        path: '/api/agents',
        headers: {
          authorization: `Bearer ${stack().key}`,
          'content-type': 'application/json',
          'content-length': '500',
        },
      });
      half.on('error', () => undefined);
      half.write('{"name": "half');
      await eventually(async () => expect((await api.get('/api/agents')).status).toBe(200));
      half.destroy();
      expect((await api.get('/api/agents?name=half')).body['items']).toEqual([]);
    });
  });
};
