import { decideGiven, fold } from '@berth/kernel';
import { describe, expect, it } from 'vitest';
import { deploymentDecider, type DeploymentCommand } from './deployment.decider.js';
import type { DeploymentEvent, RequestedDeployment } from './deployment.js';

const at = '2026-11-22T10:00:00.000Z';
const named = { deploymentId: 'dep_1', agentId: 'agt_1', at };
const asked: RequestedDeployment = {
  deploymentId: 'dep_1',
  agentId: 'agt_1',
  accountId: 'acc_1',
  origin: {
    kind: 'git',
    repoUrl: 'https://github.com/acme/bot',
    addresses: ['140.82.121.4'],
    branch: null,
    tokenEnv: null,
  },
};
const requested: DeploymentEvent = { type: 'DeploymentRequested.v2', data: { ...asked, at } };
const begun: DeploymentEvent = { type: 'DeploymentBuildStarted', data: { ...named, host: 'hst_1' } };
const built: DeploymentEvent = { type: 'DeploymentBuilt', data: { ...named, branch: 'main', commit: 'c1' } };
const succeeded: DeploymentEvent = { type: 'DeploymentSucceeded', data: named };
const failed: DeploymentEvent = {
  type: 'DeploymentFailed',
  data: { ...named, code: 'build_failed', message: 'It broke.' },
};

const request: DeploymentCommand = { type: 'Request', ...asked, at };
const begin: DeploymentCommand = { type: 'BeginBuild', host: 'hst_1', at };
const finish: DeploymentCommand = { type: 'FinishBuild', code: { branch: 'main', commit: 'c1' }, at };
const succeed: DeploymentCommand = { type: 'Succeed', at };
const fail: DeploymentCommand = { type: 'Fail', code: 'build_failed', message: 'It broke.', at };
const supersede: DeploymentCommand = { type: 'Supersede', at };

const given = (history: readonly DeploymentEvent[], command: DeploymentCommand): readonly DeploymentEvent[] =>
  decideGiven(deploymentDecider, history, command).events;

describe('a deployment', () => {
  it('is requested once, and waits', () => {
    expect(given([], request)).toEqual([requested]);
    expect(given([requested], request)).toEqual([]);
    expect(fold(deploymentDecider, [requested])).toMatchObject({ ...asked, stage: 'queued' });
  });

  it('does not exist before its request', () => {
    for (const command of [begin, finish, succeed, fail, supersede]) expect(given([], command)).toEqual([]);
  });

  it('is built, and succeeds only then', () => {
    expect(given([requested], begin)).toEqual([begun]);
    expect(given([requested, begun], begin)).toEqual([]);
    expect(given([requested, begun], finish)).toEqual([built]);
    expect(given([requested, begun], succeed)).toEqual([]);
    expect(given([requested, begun, built], succeed)).toEqual([succeeded]);
  });

  it('of an image is built once the image has a digest', () => {
    const image = 'ghcr.io/acme/bot@sha256:0a';
    const found: DeploymentEvent = { type: 'DeploymentBuilt', data: { ...named, image } };
    expect(given([requested, begun], { type: 'FinishBuild', code: { image }, at })).toEqual([found]);
    expect(fold(deploymentDecider, [requested, begun, found])).toMatchObject({
      stage: 'built',
      code: { image },
    });
  });

  it('is recorded as built even if the start of its build was never reported', () =>
    expect(given([requested], finish)).toEqual([built]));

  it('fails at every stage', () => {
    for (const history of [[requested], [requested, begun], [requested, begun, built]])
      expect(given(history, fail)).toEqual([failed]);
  });

  it('is superseded only while it waits', () => {
    expect(given([requested], supersede)).toMatchObject([{ data: { code: 'superseded' } }]);
    expect(given([requested, begun], supersede)).toEqual([]);
    expect(given([requested, begun, built], supersede)).toEqual([]);
  });

  it('keeps its first outcome', () => {
    for (const outcome of [succeeded, failed])
      for (const command of [begin, finish, succeed, fail, supersede])
        expect(given([requested, begun, built, outcome], command)).toEqual([]);
  });
});
