import { Injectable } from '@nestjs/common';
import type { Act, AdmissionRule } from '../agent/admission-rule.js';
import type { Owner } from '../agent/owner.js';
import { EndUserSuspensions } from './end-user-suspensions.js';

/** Nothing begins to use an agent of a suspended end user. */
@Injectable()
export class EndUserRule implements AdmissionRule {
  constructor(private readonly suspensions: EndUserSuspensions) {}

  async admit(_act: Act, { endUserId }: Owner): Promise<void> {
    if (endUserId !== null) await this.suspensions.requireActive(endUserId);
  }
}
