"""Upload forms: files of a study, or files that replace a part of one."""

from typing import Any

from django import forms
from django.core.files.uploadedfile import SimpleUploadedFile, UploadedFile

from annotation.formats.left_out_rows import Repeated
from annotation.formats.run_order import RunOrder
from annotation.formats.text_edits import TextEditPolicy
from annotation.models import Dataset, Project
from annotation.models.projects import ProjectQuerySet
from crux_site.imports.importing import FORMATS

FORMAT_NAMES = {
    "crux": "CRUX",
    "beir": "BEIR",
    "msmarco": "MS MARCO",
    "miracl": "MIRACL",
    "trec-rag": "TREC RAG",
    "ragtime": "RAGTIME and NeuCLIR",
    "nuggets": "nuggets (of TREC RAG, NeuCLIR, auto-judge and others)",
    "hf": "Parquet or JSON lines with AutoRAG's columns",
    "alce": "ALCE: results, demonstrations, utility",
    "reranker-requests": "requests to rerankers (Anserini, RankLLM)",
    "qac": "questions with answers and contexts (docling-sdg)",
    "crud": "CRUD-RAG",
    "trec-diversity": "TREC diversity qrels (topic, subtopic, text, grade)",
    "label-studio": "Label Studio",
    "potato": "Potato",
    "argilla": "Argilla",
    "web-annotation": "Web Annotations (W3C)",
}
TEXT_EDITS = {
    TextEditPolicy.REFUSE: "refuse the import",
    TextEditPolicy.COUNT: "replace the wording; existing grades count for the new one",
    TextEditPolicy.SET_ASIDE: "replace the wording; existing grades are superseded",
}
ORDERS = {
    RunOrder.AUTO: "rank by score, or by line if its ranks say so",
    RunOrder.LINES: "rank by line",
    RunOrder.SCORE: "rank by score",
}


REPEATED = {
    Repeated.LEAVE_OUT: "leave them out and list them",
    Repeated.NEWEST: "use the newest answer",
    Repeated.REFUSE: "refuse the import",
}


class ManyFilesInput(forms.ClearableFileInput):
    allow_multiple_selected = True


class ManyFilesField(forms.FileField):
    widget = ManyFilesInput

    def clean(self, data: object, initial: object = None) -> list[UploadedFile]:
        files = data if isinstance(data, list | tuple) and data else [None]
        return [super(ManyFilesField, self).clean(file, initial) for file in files]


class FilesForm(forms.Form):
    format = forms.ChoiceField(
        choices=[(name, FORMAT_NAMES.get(name, name)) for name in FORMATS],
        required=False,
        help_text="format or tool of the files; the names below are those of CRUX",
    )
    with_history = forms.BooleanField(
        required=False, label="Read earlier exports too (annotations/history)"
    )
    new_words = forms.ChoiceField(
        choices=list(TEXT_EDITS.items()),
        required=False,
        label="If a file has another wording for an existing text or sub-question",
        help_text="close a campaign before you replace the wording of its texts",
    )
    run_order = forms.ChoiceField(
        choices=list(ORDERS.items()),
        required=False,
        label="If the lines of a run are not in the order of their scores",
        help_text="the preview counts the topics concerned",
    )
    repeated = forms.ChoiceField(
        choices=list(REPEATED.items()),
        required=False,
        label="If an annotation tool has different answers of one person to one pair",
    )
    lenient = forms.BooleanField(
        required=False,
        label="Lenient: keep items of CRUD-RAG whose answers do not match their questions",
    )
    files = ManyFilesField(  # type: ignore[assignment]  # a form's field of this name, as in Django's guide
        help_text="one archive (.zip) of a study's folder, or single files under their own names"
    )


class DatasetForm(forms.Form):
    """Dataset that an import goes into, new or not, and its project."""

    project = forms.ModelChoiceField(
        Project.objects.none(), to_field_name="slug", empty_label=None, help_text="who will see it"
    )
    dataset = forms.SlugField(max_length=80, help_text="a new one, or one to add to")
    title = forms.CharField(max_length=200, required=False, help_text="of a new dataset")

    def __init__(self, projects: ProjectQuerySet, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["project"].queryset = projects  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        project, slug = self.cleaned_data.get("project"), self.cleaned_data.get("dataset")
        existing = Dataset.objects.filter(slug=slug).select_related("project").first()
        if project and existing and existing.project != project:
            is_theirs = existing.project in self.fields["project"].queryset  # type: ignore[attr-defined]
            location = f"It is in the project {existing.project}." if is_theirs else "It is taken."
            self.add_error("dataset", f"{location} Choose another name.")
        return self.cleaned_data


class NewDatasetForm(DatasetForm):
    """Empty dataset, to which a person adds by hand."""

    field_order = ("project", "title", "dataset")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["title"].required = True
        self.fields["title"].help_text = ""
        self.fields["dataset"].label = "Name in addresses"
        self.fields["dataset"].help_text = "letters, digits and hyphens"

    def clean_dataset(self) -> str:
        slug: str = self.cleaned_data["dataset"]
        if Dataset.objects.filter(slug=slug).exists():
            raise forms.ValidationError("This name is taken: choose another.")
        return slug


class UploadForm(DatasetForm, FilesForm):
    field_order = ("project", "dataset", "title")


class TableForm(DatasetForm):
    """Files of tables, or a table that is pasted from a spreadsheet."""

    field_order = ("files", "pasted", "project", "dataset", "title")

    files = ManyFilesField(  # type: ignore[assignment]  # a form's field of this name, as in Django's guide
        required=False,
        help_text="CSV, TSV, Excel (.xlsx), JSON, JSON lines or Parquet; several files, or a .zip of them",
    )
    pasted = forms.CharField(
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 4, "spellcheck": "false"}),
        label="Or paste a table",
        help_text="with its header row, copied from a spreadsheet, or separated by commas; 2.5 MB at most",
    )
    new_words = forms.ChoiceField(
        choices=list(TEXT_EDITS.items()),
        required=False,
        label="If a file has another wording for an existing text or sub-question",
        help_text="close a campaign before you replace the wording of its texts",
    )

    def clean(self) -> dict[str, Any]:
        data = super().clean()
        files = [file for file in data.get("files", []) if file]
        if pasted := data.get("pasted", "").strip("\r\n"):
            first_line = pasted.partition("\n")[0]
            ending = "tsv" if "\t" in first_line else "csv"
            files.append(SimpleUploadedFile(f"pasted.{ending}", pasted.encode()))
        if not files and "files" not in self.errors:
            self.add_error("files", "Choose a file, or paste a table.")
        return data | {"files": files}


class MappingForm(forms.Form):
    mapping = forms.FileField(
        label="Mapping", help_text="a mapping.json, as this page downloads it"
    )
