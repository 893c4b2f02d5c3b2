import Type from 'typebox';
import { oneOf, orNull, text, variableName, type Shape, type TextBounds } from '../schema/index.js';

const BRANCH: TextBounds = {
  max: 255,
  pattern: /^(?!-)[A-Za-z0-9._/-]+$/,
  means: 'may hold letters, digits and . _ / - only and begins with no -',
};

/** `POST /api/deploy` */
export const deployBody = Type.Object(
  {
    agentId: text({ max: 128 }),
    source: oneOf(['github', 'git', 'image'], {
      description:
        '`github`: a repository on github.com. `git`: one on any host that the operator allows. `image`: a container image.',
    }),
    repoUrl: Type.Optional(
      orNull(text({ max: 2_048 }), {
        description: 'Of `github` and `git`: an https URL without user and password.',
      }),
    ),
    branch: Type.Optional(
      orNull(text(BRANCH), { description: 'By default the branch that the HEAD of the repository names.' }),
    ),
    tokenEnv: Type.Optional(
      orNull(variableName, {
        description:
          'Name of a secret variable of the agent, used as the password of the clone and for nothing else.',
      }),
    ),
    image: Type.Optional(
      orNull(text({ max: 4_000 }), {
        description: 'Of `image`: the reference of a container image, with or without tag and digest.',
      }),
    ),
  },
  { $id: 'DeployBody' },
);
export type DeployBody = Shape<typeof deployBody>;
