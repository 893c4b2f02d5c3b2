import { describe, expect, it } from 'vitest';
import { OperatorFileError, parseOperatorFile } from './index.js';

const faultOf = (text: string): string => {
  try {
    parseOperatorFile(text);
  } catch (error) {
    if (error instanceof OperatorFileError) return error.message;
  }
  return 'no fault';
};

describe("the operator's file", () => {
  it('has a default for everything', () => {
    expect(parseOperatorFile('')).toMatchObject({
      deploy: {
        gitHosts: [{ host: 'github.com', insecure: false }],
        registries: [
          { host: 'docker.io', insecure: false },
          { host: 'ghcr.io', insecure: false },
        ],
      },
      computers: { memMb: 2_048, vcpus: 2, diskGb: 10 },
      runtime: {
        image: 'docker.io/library/debian:12',
        pull: 'missing',
        class: 'runc',
        subidUser: 'berth',
        allowRoot: true,
        pidsLimit: 1024,
        builds: 2,
        network: { mode: 'public', allow: [], dns: [] },
      },
    });
  });

  it('names hosts with and without a port, and those that may be insecure', () => {
    const file = parseOperatorFile(
      'deploy:\n  gitHosts: [github.com, { host: "localhost:9443", insecure: true }]\nruntime: { builds: 4 }\n',
    );
    expect(file.deploy.gitHosts).toEqual([
      { host: 'github.com', insecure: false },
      { host: 'localhost:9443', insecure: true },
    ]);
    expect(file.runtime.builds).toBe(4);
  });

  it('opens networks and addresses to agents, for every port or one', () => {
    const { network } = parseOperatorFile(
      'runtime:\n  network:\n    mode: public\n' +
        '    allow: ["10.1.2.0/24:5432", 10.1.2.3, "[fd00::/64]:443", "fd00::1"]\n    dns: [192.0.2.53]\n',
    ).runtime;
    expect(network).toEqual({
      mode: 'public',
      allow: [
        { family: 4, range: '10.1.2.0/24', port: 5432 },
        { family: 4, range: '10.1.2.3/32', port: null },
        { family: 6, range: 'fd00::/64', port: 443 },
        { family: 6, range: 'fd00::1/128', port: null },
      ],
      dns: ['192.0.2.53'],
    });
  });

  it.each([
    '10.1.2.0/33',
    '10.1.2',
    'db.internal:5432',
    '10.1.2.3:0',
    '10.1.2.3:65536',
    '[fd00::1',
    '',
    ':5432',
  ])('that allows agents %j is a fault of that line and member', (destination) => {
    expect(faultOf(`runtime:\n  network:\n    allow:\n      - 10.0.0.1\n      - "${destination}"\n`)).toBe(
      'line 5: runtime.network.allow[1] must be an address or a network, with a port if it is for one port only: ' +
        '10.1.2.0/24:5432',
    );
  });

  it.each([
    ['runtime:\n  network: { mode: private }\n', /^line 2: runtime\.network\.mode must be /],
    [
      'runtime:\n  network:\n    dns: [127.0.0.53]\n',
      /^line 3: runtime\.network\.dns\[0\] must be the address/,
    ],
    ['runtime:\n  network:\n    dns: [resolver.internal]\n', /^line 3: runtime\.network\.dns\[0\] must be/],
    ['runtime:\n  network:\n    open: []\n', /^line 3: runtime\.network\.open is not known$/],
  ])('%j is a fault of the network’s members', (text, fault) => {
    expect(faultOf(text)).toMatch(fault);
  });

  it('gives new computers each size that it names, and the default of each other', () => {
    expect(parseOperatorFile('computers: { memMb: 65536, vcpus: 0.1 }\n').computers).toEqual({
      memMb: 65_536,
      vcpus: 0.1,
      diskGb: 10,
    });
    expect(parseOperatorFile('computers: { diskGb: 1024 }\n').computers).toMatchObject({ diskGb: 1_024 });
  });

  it.each([
    ['memMb: 127', 'computers.memMb must be >= 128'],
    ['memMb: 65537', 'computers.memMb must be <= 65536'],
    ['memMb: 512.5', 'computers.memMb must be integer'],
    ['vcpus: 0.09', 'computers.vcpus must be >= 0.1'],
    ['vcpus: 32.1', 'computers.vcpus must be <= 32'],
    ['diskGb: 0', 'computers.diskGb must be >= 1'],
    ['diskGb: 1025', 'computers.diskGb must be <= 1024'],
    ['diskGb: null', 'computers.diskGb must be integer'],
    ['width: 1280', 'computers.width is not known'],
  ])('that gives computers %j has a fault in that line and member', (member, fault) => {
    expect(faultOf(`computers:\n  ${member}\n`)).toBe(`line 2: ${fault}`);
  });

  it.each([
    ['deploy: [', 'line 1: the file is not valid YAML'],
    ['- a', 'line 1: the file must be object'],
    ['deploy:\n  gitHost: [a]\n', 'line 2: deploy.gitHost is not known'],
    ['deploys: {}\n', 'line 1: deploys is not known'],
    ['runtime:\n  pull: often\n', 'line 2: runtime.pull must be equal to one of the allowed values'],
    [
      'runtime:\n  image: https://docker.io/debian\n',
      'line 2: runtime.image must be the reference of an image, such as docker.io/library/debian:12',
    ],
    ['runtime:\n  class: Run C\n', 'line 2: runtime.class must be the name of a runtime class, such as runc'],
    ['runtime:\n  pidsLimit: 0\n', 'line 2: runtime.pidsLimit must be >= 16'],
    ['runtime:\n  allowRoot: yes please\n', 'line 2: runtime.allowRoot must be boolean'],
    ['runtime:\n\n  builds: 0\n', 'line 3: runtime.builds must be >= 1'],
    ['runtime:\n  builds: two\n', 'line 2: runtime.builds must be integer'],
    [
      'deploy:\n  gitHosts:\n    - github.com\n    - { host: x.org, insecur: true }\n',
      'line 4: deploy.gitHosts[1].insecur is not known',
    ],
    [
      'deploy:\n  gitHosts:\n    - https://github.com\n',
      'line 3: deploy.gitHosts[0] must be a host name in lower case, with a port if it is not 443',
    ],
  ])('%j is a fault of a line and a member', (text, fault) => {
    expect(faultOf(text)).toBe(fault);
  });

  it('with a thousand-fold alias is a fault, not a long wait', () => {
    expect(faultOf('deploy: &a { gitHosts: [x.org] }\nruntime: *a\n')).not.toBe('no fault');
  });
});
