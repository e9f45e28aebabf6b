"""sentence-transformers' trainer with a model made here: pairs of sentences."""

import random

from datasets import Dataset
from sentence_transformers import (
    SentenceTransformer,
    SentenceTransformerTrainer,
    SentenceTransformerTrainingArguments,
    losses,
)
from sentence_transformers.models import Pooling, Transformer
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

WORDS = [f"word{i}" for i in range(500)]
vocabulary = {word: i for i, word in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *WORDS])}
core = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
core.pre_tokenizer = pre_tokenizers.Whitespace()
tokenizer = PreTrainedTokenizerFast(
    tokenizer_object=core, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]"
)
tokenizer.save_pretrained("base")
BertModel(
    BertConfig(vocab_size=504, hidden_size=128, num_hidden_layers=3, num_attention_heads=4, intermediate_size=256)
).save_pretrained("base")
random.seed(0)


def pair():
    words = random.sample(WORDS, 12)
    return " ".join(words), " ".join(random.sample(words, 8))


anchors, positives = zip(*(pair() for _ in range(20000)), strict=True)
body = Transformer("base")
model = SentenceTransformer(modules=[body, Pooling(128)], device="cpu")
SentenceTransformerTrainer(
    model=model,
    args=SentenceTransformerTrainingArguments(
        output_dir="out",
        max_steps=5000,
        per_device_train_batch_size=16,
        logging_steps=5,
        save_strategy="no",
        use_cpu=True,
        report_to=[],
    ),
    train_dataset=Dataset.from_dict({"anchor": anchors, "positive": positives}),
    loss=losses.MultipleNegativesRankingLoss(model),
).train()
