import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Env } from '@berth/config';
import { describe, expect, it } from 'vitest';
import { prepareContainerStack, stopContainerStack } from './container-stack.fixture.js';
import { describeDeployApi } from './deploy.suite.js';
import { TEST_TEMPLATES } from './stack.fixture.js';

const PYTHON = `
import http.server, json, os, sys
class Chat(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers.get('content-length', 0)))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps({'response': 'from ' + sys.prefix}).encode())
http.server.HTTPServer(('127.0.0.1', int(os.environ['PORT'])), Chat).serve_forever()
`;

/** Templates that restrict their agents beyond what the host does. */
const RESTRICTED = { closed: { network: 'none' }, sandboxed: { runtimeClass: 'runsc' } };

const prepare = async (dataDir: string): Promise<Env> => {
  const templates = join(dirname(dataDir), 'templates');
  cpSync(TEST_TEMPLATES, templates, { recursive: true });
  for (const [id, options] of Object.entries(RESTRICTED)) {
    mkdirSync(join(templates, id), { recursive: true });
    const resources = { memMb: 256, vcpus: 1, diskGb: 1 };
    const about = { id, name: id, description: 'For tests.', capabilities: ['exec'], env: [], program: null };
    writeFileSync(join(templates, id, 'template.json'), JSON.stringify({ ...about, resources, ...options }));
  }
  return { ...(await prepareContainerStack(dataDir)), BERTH_TEMPLATES_DIR: templates };
};

const install = { prepare, stop: stopContainerStack };

describeDeployApi(install, (target) => {
  const building = async (name: string, build: string) => {
    await target.git.commit(name, { 'berth.json': JSON.stringify({ build, start: 'x' }) });
    const { agentId, deployment } = await target.deployed(name);
    expect((await target.api.chat(agentId, 'unharmed?')).body.response).toContain('unharmed?');
    return deployment.error;
  };

  const agentOf = async (templateId: string, state: string): Promise<string> => {
    const body = { name: `agent ${crypto.randomUUID().slice(0, 8)}`, templateId };
    const id = String((await target.api.post('/api/agents', body)).body['id']);
    await target.api.inState(id, state);
    return id;
  };

  const failing = async (agentId: string, name: string, build: string) => {
    await target.git.commit(name, { 'berth.json': JSON.stringify({ build, start: 'x' }) });
    const { deploymentId } = (await target.deploy(agentId, name)).body;
    return (await target.ended(agentId, deploymentId)).error;
  };

  describe('a build in a container', () => {
    it('makes the virtual environment of a Python program where the agent finds it', async () => {
      await target.git.commit('python', { 'main.py': PYTHON, 'requirements.txt': '# none\n' });
      const { agentId, deployment } = await target.deployed('python');
      expect(deployment.error).toBeNull();
      expect((await target.api.chat(agentId, 'hello')).body.response).toBe('from /.berth/code/.venv');
    });

    it('that takes more memory than the agent has is killed, and fails', async () => {
      const bomb = `node -e "const all = []; for (;;) all.push(Buffer.alloc(16 * 1024 ** 2, 1))"`;
      expect(await building('memory-bomb', bomb)).toMatchObject({
        code: 'build_failed',
        message: expect.stringContaining('memory') as string,
      });
    });

    it('that stores more than it may fails', async () => {
      // Reserves blocks without writing them, as long as there are any.
      const bomb =
        'for s in 1G 1G 512M 256M 128M 64M 32M 16M 8M 4M 2M 1M; do n=x$n; fallocate -l $s $n; done;' +
        'dd if=/dev/zero of=rest bs=64K; sleep 600';
      expect(await building('disk-bomb', bomb)).toMatchObject({
        code: 'build_failed',
        message: expect.stringContaining('stored more than a build may') as string,
      });
    });

    it('is in a user namespace of its own, has no capability, and cannot write outside of its disk', async () => {
      const proof = [
        'test "$(id -u)" = 1000',
        'grep -q "^CapBnd:.0*$" /proc/self/status',
        'grep -q "^NoNewPrivs:.1$" /proc/self/status',
        '! grep -q "0 *0 *4294967295" /proc/self/uid_map',
        '! touch /etc/probe /.berth/kit/probe 2> /dev/null',
        'touch /tmp/probe /var/tmp/probe',
        'test ! -e /.berth/run -a ! -e /workspace/note.txt',
        'exit 42',
      ].join(' && ');
      expect(await building('proof', proof)).toMatchObject({
        message: expect.stringContaining('exited with code 42') as string,
      });
    });

    it('has no network if the template of its agent has none', async () => {
      const id = await agentOf('closed', 'running');
      expect(await failing(id, 'closed', 'test "$(ls /sys/class/net)" = lo && exit 43')).toMatchObject({
        message: expect.stringContaining('exited with code 43') as string,
      });
    });

    it('runs under the runtime class of its agent’s template, and fails on a host that lacks the class', async () => {
      const id = await agentOf('sandboxed', 'failed');
      expect(await failing(id, 'sandboxed', 'true')).toMatchObject({
        code: 'build_failed',
        message: expect.stringContaining('runtime class') as string,
      });
    });
  });
});
