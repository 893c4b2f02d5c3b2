import { DomainError } from '@berth/kernel';
import { OperatorSettings } from '@berth/operator-file';
import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { PlansInUseQuery } from '../account-list/plans-in-use.query.js';

/** The plans of the operator's file. */
@Injectable()
export class Plans implements OnApplicationBootstrap {
  constructor(
    private readonly operator: OperatorSettings,
    private readonly inUse: PlansInUseQuery,
  ) {}

  /** The service does not start with a file that lacks a plan that accounts have. */
  async onApplicationBootstrap(): Promise<void> {
    this.operator.requirePlans(await this.inUse.run());
  }

  /** Returns the id. Errors: invalid `unknown_plan`. */
  known(planId: string): string {
    if (this.operator.current.plans.some(({ id }) => id === planId)) return planId;
    throw new DomainError('invalid', 'unknown_plan', 'No plan has this id.');
  }
}
