import { afterAll, beforeAll } from 'vitest';
import { describeBuilds } from './builds.suite.js';
import { DeployTarget, type DeployInstallation } from './deploy.fixture.js';
import { describeDeployedRepositories } from './deployed-repositories.suite.js';
import { describeRefusedRepositories } from './refused-repositories.suite.js';

/** Deployments of repositories over HTTP: the same guarantees for every driver. `more` adds those of one driver. */
export const describeDeployApi = (
  installation: DeployInstallation,
  more: (target: DeployTarget) => void = () => undefined,
): void => {
  const target = new DeployTarget(installation);
  beforeAll(() => target.start());
  afterAll(() => target.stop());

  describeDeployedRepositories(target);
  describeRefusedRepositories(target);
  describeBuilds(target);
  more(target);
};
