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
    expect(parseOperatorFile('')).toEqual({
      deploy: {
        gitHosts: [{ host: 'github.com', insecure: false }],
        registries: [
          { host: 'docker.io', insecure: false },
          { host: 'ghcr.io', insecure: false },
        ],
      },
      runtime: {
        image: 'docker.io/library/debian:12',
        pull: 'missing',
        class: 'runc',
        subidUser: 'berth',
        allowRoot: true,
        pidsLimit: 1024,
        builds: 2,
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
