import type { ComputerView } from '@berth/contracts/computers';
import { Injectable } from '@nestjs/common';

/** The sizes of new computers. */
@Injectable()
export class ComputerSizes {
  get current(): ComputerView['resources'] {
    return { memMb: 2_048, vcpus: 2, diskGb: 10 };
  }
}
