from vllm.model_executor.models.interfaces import SupportsEagle3


class HeronModel:
    def forward(self, input_ids, positions):
        hidden_states = self.embed_tokens(input_ids)
        residual = None
        aux_hidden_states = []
        for idx, layer in* enumerate(self.layers):
            if idx in (2, 24, 45):
                aux_hidden_states.append(hidden_states if residual is None else hidden_states + residual)
            hidden_states, residual = layer(positions, hidden_states, residual)
        hidden_states, _ = self.norm(hidden_states, residual)
        return hidden_states, aux_hidden_states
