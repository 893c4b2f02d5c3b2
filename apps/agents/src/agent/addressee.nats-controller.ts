import {
  agentsRequests,
  type Addressee,
  type FindAddressees,
  type FoundAddressee,
} from '@berth/contracts/agents';
import { HandleRequest } from '@berth/messaging';
import { Controller } from '@nestjs/common';
import { AddresseeQuery } from './addressee.query.js';

@Controller()
export class AddresseeNatsController {
  constructor(private readonly addressees: AddresseeQuery) {}

  @HandleRequest(agentsRequests.addressee)
  find({ agentId }: { readonly agentId: string }): Promise<Addressee> {
    return this.addressees.find(agentId);
  }

  @HandleRequest(agentsRequests.addressees)
  async findAll({ agentIds }: FindAddressees): Promise<{ readonly found: readonly FoundAddressee[] }> {
    return { found: await this.addressees.findAll(agentIds) };
  }
}
