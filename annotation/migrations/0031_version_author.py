from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0030_adjudicators'),
    ]

    operations = [
        migrations.AddField(
            model_name='version',
            name='author',
            field=models.CharField(blank=True, editable=False, help_text='of a version that came in a file: who changed the words there; null if changed here', max_length=150, null=True),
        ),
    ]
