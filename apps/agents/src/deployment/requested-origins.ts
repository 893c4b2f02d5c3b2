import type { Deploy } from '@berth/contracts/agents';
import { runtimeRequests } from '@berth/contracts/runtime';
import { DomainError } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { OperatorSettings } from '@berth/operator-file';
import { Inject, Injectable } from '@nestjs/common';
import { Admission, ownerOf } from '../agent/admission.js';
import type { LiveAgent } from '../agent/agent.js';
import { cannotStart } from '../agent/agent-lifecycle.js';
import { HostProbe } from '../host/host-probe.js';
import { BuildSecrets } from './build-secrets.js';
import type { ImageOrigin, Origin } from './deployment.js';
import { checkImage } from './image-check.js';
import { invalid } from './invalid-member.js';
import { resolveRepository } from './repository-address.js';
import { checkRepositoryUrl } from './repository-url.js';

/** Checks whether a deployment is allowed, and where its code comes from. */
@Injectable()
export class RequestedOrigins {
  constructor(
    private readonly operator: OperatorSettings,
    private readonly secrets: BuildSecrets,
    @Inject(Requester) private readonly requester: Pick<Requester, 'request'>,
    private readonly probe: HostProbe,
    private readonly admission: Admission,
  ) {}

  /**
   * Errors: invalid `invalid_request`, `repo_url_refused`, `image_refused`; unsupported `images_unsupported`; unavailable
   * `service_unavailable` while the agent's host cannot start agents; those of `Admission`.
   */
  async of(request: Deploy, agent: LiveAgent): Promise<Origin> {
    const origin = await this.check(request, agent);
    await this.admission.admit('deploy', ownerOf(agent.profile));
    return origin;
  }

  private async check(request: Deploy, agent: LiveAgent): Promise<Origin> {
    const { source, repoUrl, branch, tokenEnv } = request;
    if (source === 'image') return this.image(request, agent);
    if (repoUrl === null) throw invalid('repoUrl', 'is required for this source');
    const repository = checkRepositoryUrl(repoUrl, source, this.operator.current.deploy.gitHosts);
    const secret = tokenEnv === null ? null : await this.secrets.record(agent, tokenEnv);
    if (tokenEnv !== null && secret === null)
      throw invalid('tokenEnv', 'names no secret variable of the agent');
    if (agent.host !== null && !(await this.probe.canStart(agent.host))) throw cannotStart();
    const addresses = await resolveRepository(repository);
    return { kind: 'git', repoUrl: repository.url, addresses, branch, tokenEnv: secret };
  }

  private async image({ image }: Deploy, { host }: LiveAgent): Promise<ImageOrigin> {
    if (image === null) throw invalid('image', 'is required for this source');
    const { driver, images } = await this.requester.request(
      runtimeRequests.describe,
      {},
      { host: host ?? '' },
    );
    if (images !== true) {
      const message = `The host of the agent runs no container images (its driver is ${driver}).`;
      throw new DomainError('unsupported', 'images_unsupported', message);
    }
    const origin = checkImage(image, this.operator.current.deploy.registries);
    if (host !== null && !(await this.probe.canStart(host))) throw cannotStart();
    return origin;
  }
}
