import { AGENT_STATES, type AgentState } from '@berth/contracts/agents';
import { ApiProperty } from '@nestjs/swagger';
import { IsIn, IsOptional } from 'class-validator';
import { PageQuery } from '../http/page.query.js';
import { FromQuery } from '../validation/nested-rules.js';
import { IsText, IsWithin } from '../validation/rules.js';
import { AGENT_NAME, EXTERNAL_ID, EXTERNAL_USER_ID, LABEL_NAME, LABEL_VALUE } from './agent-names.js';

const oneOfStates = { message: `must be one of ${AGENT_STATES.join(', ')}` };

/** `GET /api/agents` */
export class ListAgentsQuery extends PageQuery {
  @ApiProperty({ required: false })
  @IsOptional()
  @IsText({ max: EXTERNAL_ID.max })
  readonly externalId?: string;

  @ApiProperty({ required: false })
  @IsOptional()
  @IsText({ max: EXTERNAL_USER_ID.max })
  readonly externalUserId?: string;

  @ApiProperty({ enum: AGENT_STATES, required: false })
  @IsOptional()
  @IsIn(AGENT_STATES, oneOfStates)
  readonly state?: AgentState;

  @ApiProperty({ required: false, description: 'The whole name.' })
  @IsOptional()
  @IsText({ max: AGENT_NAME.max })
  readonly name?: string;

  @ApiProperty({ required: false, description: '`name`, or `name=value`.' })
  @IsOptional()
  @IsText({ max: LABEL_NAME.max + '='.length + LABEL_VALUE.max })
  readonly label?: string;
}

/** `GET /api/agents/{agent_id}` */
export class GetAgentQuery {
  @ApiProperty({
    enum: AGENT_STATES,
    required: false,
    description: 'Respond as soon as the agent is in this state or `failed`, or the time is over.',
  })
  @IsOptional()
  @IsIn(AGENT_STATES, oneOfStates)
  readonly wait?: AgentState;

  @ApiProperty({
    type: 'integer',
    minimum: 1,
    maximum: 60,
    default: 30,
    required: false,
    description: 'Seconds to wait.',
  })
  @FromQuery('integer')
  @IsOptional()
  @IsWithin(1, 60)
  readonly timeout: number = 30;
}
