import { join } from 'node:path';
import { containerTestHost, eventually } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Api } from './api.fixture.js';
import { Executions } from './executions.fixture.js';
import { berth, HOSTS, untilHostIs } from './joined-hosts.fixture.js';
import { CHECKOUT, Machine } from './machine.fixture.js';
import { startStandaloneStack, temporaryFolder, type StandaloneStack } from './stack.fixture.js';

const UNIT = `${CHECKOUT}/infra/systemd/berth-runtime.service`;
const DATA = '/var/lib/berth/runtime';
/** The containerd namespace of the host's installation follows from its data folder. */
const LOAD_IMAGE = `nerdctl --namespace berth-$(printf %s ${DATA} | sha256sum | cut -c1-12) load --input /images/debian.tar`;

const folder = temporaryFolder();
const api = new Api(() => stack);
let stack: StandaloneStack;
let machine: Machine;
let hostId: string;

const status = async (property: string): Promise<string> =>
  machine.run(`systemctl show --property=${property} --value berth-runtime`);

/** Adds a line to what the unit says about its service, or takes it away again. */
const changeUnit = async (line = ''): Promise<void> => {
  machine.write('/run/systemd/system/berth-runtime.service.d/changed.conf', `[Service]\n${line}\n`);
  await machine.run('systemctl daemon-reload');
};

beforeAll(async () => {
  const { images, cniPath } = containerTestHost();
  stack = await startStandaloneStack(join(folder.path, 'main'));
  machine = await Machine.start(join(folder.path, 'machine'), { '/images': images });
  machine.installContainerd();
  const printed = await berth(stack, 'hosts', 'add', 'unit');
  hostId = /^BERTH_HOST_ID=(\S+)$/m.exec(printed)?.[1] ?? '';
  const more = [`CNI_PATH=${cniPath}`, `BERTH_TEMPLATES_DIR=${CHECKOUT}/apps/standalone/e2e-templates`];
  machine.write('/etc/berth/host.env', `${printed}${more.join('\n')}\n`);
  await machine.run('useradd --system berth; echo berth:200000:65536 | tee -a /etc/subuid /etc/subgid');
  await machine.run(`cp ${UNIT} /etc/systemd/system; systemctl daemon-reload`);
  await machine.run(`systemctl start containerd; ${LOAD_IMAGE}; systemctl enable --now berth-runtime`);
  await untilHostIs(api, hostId, 'ready');
  const { body } = await api.get<{ readonly items: readonly { readonly id: string }[] }>(HOSTS);
  for (const { id } of body.items) if (id !== hostId) await api.post(`${HOSTS}/${id}/drain`);
});

afterAll(async () => {
  await machine.run('systemctl stop berth-runtime');
  await machine.run('systemctl stop containerd');
  await machine.stop();
  await stack.stop();
  folder.remove();
});

describe('infra/systemd/berth-runtime.service', () => {
  it('is a unit without a mistake', async () => {
    expect(await machine.run(`systemd-analyze verify ${UNIT} 2>&1`)).toBe('');
  });

  it('runs agents in containers on the host that `berth hosts add` added', async () => {
    const { id } = await api.runningAgent();
    const exec = new Executions(api, id);
    const { body } = await exec.run('cat /proc/self/uid_map; echo kept > $HOME/kept');
    expect(body).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/ 200000 /) as string });
    expect((await api.chat(id, 'hello')).status).toBe(200);
    expect(await machine.run('nerdctl namespace ls --quiet')).toContain('berth-');
    await api.post(`/api/agents/${id}/stop`);
    await api.inState(id, 'stopped');
    expect(await machine.run('mount')).not.toContain(id);
    await api.post(`/api/agents/${id}/start`);
    await api.inState(id, 'running');
    expect((await exec.run('cat $HOME/kept')).body.stdout).toBe('kept\n');
    expect((await api.call('DELETE', `/api/agents/${id}`)).status).toBe(204);
  });

  it('is started again after a crash, and its agents have gone on', async () => {
    const { id } = await api.runningAgent();
    const exec = new Executions(api, id);
    await exec.run('echo same > /tmp/in-memory');
    const before = await status('MainPID');
    await machine.run('systemctl kill --signal=SIGKILL --kill-whom=main berth-runtime');
    await eventually(
      async () => {
        expect(await status('ActiveState')).toBe('active');
        expect(await status('MainPID')).not.toBe(before);
        expect((await exec.run('cat /tmp/in-memory')).body.stdout).toBe('same\n');
      },
      { timeoutMs: 60_000, intervalMs: 200 },
    );
    expect((await api.call('DELETE', `/api/agents/${id}`)).status).toBe(204);
  });

  it('gives the runtime no device but loops, and no capability or system call that it does not use', async () => {
    const pid = await status('MainPID');
    const state = await machine.run(`cat /proc/${pid}/status`);
    expect(state).toMatch(/^NoNewPrivs:\s1$/m);
    expect(state).toMatch(/^Seccomp:\s2$/m);
    const bounding = BigInt(`0x${/^CapBnd:\s(\w+)$/m.exec(state)?.[1] ?? ''}`);
    // SYS_MODULE, SYS_RAWIO, SYS_BOOT, SYS_TIME, SYSLOG
    for (const capability of [16n, 17n, 22n, 25n, 34n]) expect(bounding & (1n << capability)).toBe(0n);
    // A process in the runtime's control group.
    const groups = '/sys/fs/cgroup/devices /sys/fs/cgroup';
    const join = `for g in ${groups}; do f=$g/system.slice/berth-runtime.service/cgroup.procs; [ ! -e $f ] || echo $$ > $f; done`;
    expect(await machine.run(`${join}; head -c1 /dev/kmsg 2>&1 || true`)).toContain('not permitted');
    expect(await machine.run(`${join}; head -c1 /dev/zero | wc -c`)).toBe('1');
  });

  it('runs agents under the umask 077 too', async () => {
    await changeUnit('UMask=0077');
    await machine.run('systemctl restart berth-runtime');
    // No host has room until the runtime has started again.
    const { id } = await eventually(() => api.runningAgent(), { timeoutMs: 30_000, intervalMs: 200 });
    expect((await new Executions(api, id).run('echo runs')).body.stdout).toBe('runs\n');
    expect((await api.call('DELETE', `/api/agents/${id}`)).status).toBe(204);
    await changeUnit();
  });

  it('stays stopped when its configuration is invalid', async () => {
    await changeUnit('Environment=BERTH_DATA_PORT=none');
    await machine.run('systemctl restart berth-runtime');
    await eventually(async () => expect(await status('ActiveState')).toBe('failed'), { timeoutMs: 20_000 });
    expect(await status('ExecMainStatus')).toBe('78');
    await changeUnit();
    await machine.run('systemctl start berth-runtime');
    await untilHostIs(api, hostId, 'ready');
  });
});
