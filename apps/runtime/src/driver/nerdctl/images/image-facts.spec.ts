import { describe, expect, it } from 'vitest';
import { factsOf, parseInspectedImage, type ImageFacts } from './image-facts.js';

const DIGEST = 'sha256:a29b0e15db163cc709f924272521b8ff3fafce27ff5c3d4ee18e8b590ac5c035';

const parseImageFacts = (output: string): ImageFacts | undefined => {
  const inspected = parseInspectedImage(output);
  return inspected && factsOf(inspected);
};

/** Output of nerdctl 2.1.2, shortened. */
const printed = (config: object): string =>
  `{"Image":{"Name":"berth.test/shell:1","Labels":null,"Target":{"mediaType":"application/vnd.docker.distribution.` +
  `manifest.v2+json","digest":"${DIGEST}","size":422}},"ImageConfig":{"architecture":"amd64","os":"linux",` +
  `"config":${JSON.stringify(config)},"rootfs":{"type":"layers","diff_ids":[]}},"size":1998848}\n`;

describe('the facts in the configuration of an image', () => {
  it('are its command, variables, folder and user', () => {
    const config = {
      Entrypoint: ['/entry', '-x'],
      Cmd: ['serve'],
      Env: ['PATH=/bin', 'OPTIONS=a=b', 'EMPTY='],
      WorkingDir: '/srv',
      User: 'app:staff',
    };
    expect(parseImageFacts(printed(config))).toEqual({
      digest: DIGEST,
      command: ['/entry', '-x', 'serve'],
      env: { PATH: '/bin', OPTIONS: 'a=b', EMPTY: '' },
      workingDir: '/srv',
      user: 'app:staff',
    });
  });

  it('are no command, the root folder and no user if the configuration is empty', () => {
    const nothing = { digest: DIGEST, command: null, env: {}, workingDir: '/', user: '' };
    expect(parseImageFacts(printed({}))).toEqual(nothing);
    expect(parseImageFacts(printed({ Entrypoint: null, Cmd: null, Env: null }))).toEqual(nothing);
  });

  it('are the same under each name of the image, and absent for an image that the host does not have', () => {
    const twice = printed({ User: '7' }) + printed({ User: '7' });
    expect(parseImageFacts(twice)?.user).toBe('7');
    expect(parseImageFacts('\n')).toBeUndefined();
  });
});
